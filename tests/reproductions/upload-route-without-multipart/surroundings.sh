# An environment without the package (faulty: a stand-in in front of it that refuses to be imported), or with it (mended).
mode=$1; shift
if [ "$mode" = faulty ]; then
    mkdir -p without/python_multipart without/multipart
    for name in python_multipart multipart; do echo "raise ModuleNotFoundError(\"No module named '$name'\", name='$name')" > without/$name/__init__.py; done
    export PYTHONPATH="$PWD/without"
fi
exec "$@"
