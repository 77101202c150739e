#!/bin/sh
# Runs the server as process 1, so that it hears the signals of the container; arguments come last and win.
exec "${TENSORKEEP_MODEL_SERVER:-tensorkeep-model-server}" \
    --port=8500 \
    --rest_api_port=8501 \
    --model_name="${MODEL_NAME:-model}" \
    --model_base_path="${MODEL_BASE_PATH:-/models}/${MODEL_NAME:-model}" \
    "$@"
