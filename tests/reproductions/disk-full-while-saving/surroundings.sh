# The disk for checkpoints has 256 KB left (faulty), or enough (mended).
case "$1" in faulty) size=256k ;; *) size=2g ;; esac
shift
mkdir -p checkpoints
export CKPT_DIR=checkpoints
exec unshare -m sh -c 'mount -t tmpfs -o size="$0" none checkpoints && exec "$@"' "$size" "$@"
