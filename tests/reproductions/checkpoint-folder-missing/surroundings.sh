# The person names the folder that the job writes to.
shift
export CKPT_DIR=checkpoints
exec "$@"
