# A compute node without network: the model was never downloaded (faulty), or lies in the shared cache (mended).
mode=$1; shift
export HF_HUB_OFFLINE=1 HF_HOME="$PWD/hf-home" MODEL=some-team/some-model
if [ "$mode" = mended ]; then
    cache="$HF_HOME/hub/models--some-team--some-model"
    mkdir -p "$cache/refs" "$cache/snapshots/0123456789abcdef0123456789abcdef01234567"
    printf 0123456789abcdef0123456789abcdef01234567 > "$cache/refs/main"
    echo '{"model_type": "bert", "hidden_size": 8}' > "$cache/snapshots/0123456789abcdef0123456789abcdef01234567/config.json"
fi
exec "$@"
