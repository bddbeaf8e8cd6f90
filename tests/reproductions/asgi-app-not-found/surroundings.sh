# The person names the module that the server was told to load.
shift
export APP=main
exec "$@"
