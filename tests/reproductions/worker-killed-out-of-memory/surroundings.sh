# A memory limit as a container has it: 900 MB (faulty) or 4 GB (mended), in a control group of our own. The group stays for the check, which counts its kills.
mode=$1; shift
case "$mode" in faulty) limit=900M ;; *) limit=4G ;; esac
name=kb-stage-$(echo "$PWD" | cksum | cut -d' ' -f1)
if [ -e /sys/fs/cgroup/cgroup.controllers ]; then group=/sys/fs/cgroup/$name file=memory.max; else group=/sys/fs/cgroup/memory/$name file=memory.limit_in_bytes; fi
mkdir -p "$group" && echo "$limit" > "$group/$file" || exit 97
(echo 0 > "$group/cgroup.procs" && exec "$@")
code=$?
case "$*" in *train.py) ;; *) tries=0; until rmdir "$group" 2>/dev/null || [ $tries = 50 ]; do sleep 0.1; tries=$((tries + 1)); done ;; esac
exit $code
