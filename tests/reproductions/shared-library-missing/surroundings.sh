# A compiled module needs libkbstage.so.1; it was left out of the image (faulty) or lies where the loader looks (mended).
mode=$1; shift
export LIB=libkbstage.so.1
mkdir -p lib
if [ ! -e fastops.so ]; then
    echo 'int answer(void) { return 42; }' > answer.c
    gcc -shared -fPIC -Wl,-soname,libkbstage.so.1 -o lib/libkbstage.so.1 answer.c
    echo 'int answer(void); int call(void) { return answer(); }' > fastops.c
    gcc -shared -fPIC -o fastops.so fastops.c -Wl,--no-as-needed lib/libkbstage.so.1
fi
[ "$mode" = faulty ] || export LD_LIBRARY_PATH="$PWD/lib"
exec "$@"
