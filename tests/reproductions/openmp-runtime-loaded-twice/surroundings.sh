shift
export SITE="$PWD/packages"
exec "$@"
