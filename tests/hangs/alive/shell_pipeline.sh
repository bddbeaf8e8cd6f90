i=0
while [ $i -lt 14 ]; do head -c 300000 /dev/urandom | gzip -c | wc -c > /dev/null; sleep 0.4; i=$((i+1)); done
