# The person names the folder that the job writes to.
shift
export LOG_DIR=logs
exec "$@"
