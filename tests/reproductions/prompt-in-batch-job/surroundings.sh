# Standard input is a pipe that stays open and says nothing.
shift
mkfifo silent.$$
sleep 60 > silent.$$ &
holder=$!
"$@" < silent.$$
code=$?
kill $holder; rm -f silent.$$
exit $code
