# The cache lies on a file system that is mounted read-only (faulty), or can be written (mended).
mode=$1; shift
mkdir -p cache
export TORCH_HOME="$PWD/cache"
[ "$mode" = faulty ] || exec "$@"
exec unshare -m sh -c 'mount --bind cache cache && mount -o remount,ro,bind cache && exec "$@"' sh "$@"
