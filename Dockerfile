# One target for each image: docker buildx build --target gateway . (npm run image -- build). What an image holds, and every step that
# makes it, is a script of tools/image that runs without Docker as well (docs/images.md).
#
# Base images are named by their full version. To pin one by what it holds, pass NAME:TAG@sha256:… as the argument; the digest is what
# `docker buildx imagetools inspect NAME:TAG` prints.
ARG NODE_IMAGE=node:20.20.2-bookworm-slim
ARG CUDA_IMAGE=nvidia/cuda:11.8.0-cudnn8-runtime-ubuntu22.04

# ---- everything compiled, once for all images
FROM ${NODE_IMAGE} AS build
WORKDIR /src
# The packages are installed again only when one of these files changes.
COPY package.json package-lock.json .npmrc ./
COPY apps/dashboard/package.json apps/dashboard/
COPY apps/cli/package.json apps/cli/
COPY apps/demo-judge/package.json apps/demo-judge/
COPY apps/dispatcher/package.json apps/dispatcher/
COPY apps/engine/package.json apps/engine/
COPY apps/gateway/package.json apps/gateway/
COPY apps/judge-svc/package.json apps/judge-svc/
COPY apps/simulator/package.json apps/simulator/
COPY apps/teacher-svc/package.json apps/teacher-svc/
COPY apps/trainer/package.json apps/trainer/
COPY libs/advantage/package.json libs/advantage/
COPY libs/contracts/package.json libs/contracts/
COPY libs/language-model/package.json libs/language-model/
COPY libs/platform/package.json libs/platform/
COPY libs/seed-world/package.json libs/seed-world/
COPY libs/tfjs-onnx/package.json libs/tfjs-onnx/
COPY tools/seed-model/package.json tools/seed-model/
COPY e2e/clients/package.json e2e/clients/
RUN npm ci --no-progress --loglevel=error
COPY . .
RUN node tools/build.mjs

# ---- /app of each image: its own compiled files, and the packages that these load
FROM build AS prune-gateway
RUN node tools/image/main.mjs prune --app gateway --out /image
FROM build AS prune-judge-svc
RUN node tools/image/main.mjs prune --app judge-svc --out /image
FROM build AS prune-teacher-svc
RUN node tools/image/main.mjs prune --app teacher-svc --out /image
FROM build AS prune-dispatcher
RUN node tools/image/main.mjs prune --app dispatcher --out /image
FROM build AS prune-trainer
RUN node tools/image/main.mjs prune --app trainer --out /image
FROM build AS prune-trainer-onnx
RUN node tools/image/main.mjs prune --app trainer-onnx --out /image
FROM build AS prune-trainer-cpu
RUN node tools/image/main.mjs prune --app trainer-cpu --out /image
FROM build AS prune-engine
RUN node tools/image/main.mjs prune --app engine --out /image
FROM build AS prune-demo-judge
RUN node tools/image/main.mjs prune --app demo-judge --out /image

# ---- native libraries for a GPU
FROM build AS native
RUN apt-get update && apt-get install -y --no-install-recommends g++ make python3-pip unzip && rm -rf /var/lib/apt/lists/*

# TensorFlow's C library and the module that TensorFlow.js calls it through. 11.8 uses CUDA of the base image, 12 brings its own.
FROM native AS tensorflow
ARG TENSORFLOW_CUDA=11.8
RUN node tools/tfjs-node-binding/build.mjs --package tfjs-node-gpu --cuda "${TENSORFLOW_CUDA}" --cache /tensorflow

# onnxruntime's provider for CUDA 13 and NVIDIA's libraries that it loads.
FROM native AS onnx-cuda
RUN node tools/image/main.mjs onnx-cuda --out /onnx-cuda

# ---- what all images have in common
FROM ${NODE_IMAGE} AS runtime
RUN install -d -o 10001 -g 10001 /data /policies /cuda-cache && install -d /models
WORKDIR /app
ENV NODE_ENV=production DATA_DIR=/data
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 CMD ["node", "healthcheck.mjs"]
ARG VERSION=0.1.0
ARG REVISION=unknown
LABEL org.opencontainers.image.title="Hindcast" \
      org.opencontainers.image.licenses="MIT" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
USER 10001:10001

FROM runtime AS gateway
COPY --from=prune-gateway /image /app
ENV PORT=8080
EXPOSE 8080
ENTRYPOINT ["node", "apps/gateway/dist/main.js"]

FROM runtime AS judge-svc
COPY --from=prune-judge-svc /image /app
ENV PORT=8081
EXPOSE 8081
ENTRYPOINT ["node", "apps/judge-svc/dist/main.js"]

FROM runtime AS teacher-svc
COPY --from=prune-teacher-svc /image /app
ENV PORT=8082
EXPOSE 8082
ENTRYPOINT ["node", "apps/teacher-svc/dist/main.js"]

FROM runtime AS dispatcher
COPY --from=prune-dispatcher /image /app
ENV PORT=8083
EXPOSE 8083
ENTRYPOINT ["node", "apps/dispatcher/dist/main.js"]

# What the trainers on Node's image have in common.
FROM runtime AS runtime-trainer
COPY models/seed /models/seed
ENV PORT=8084 MODEL_DIR=/models/seed POLICY_DIR=/policies
EXPOSE 8084
ENTRYPOINT ["node", "apps/trainer/dist/main.js"]

# Trains on the CPU: for the seed model, which is in the image.
FROM runtime-trainer AS trainer-cpu
COPY --from=prune-trainer-cpu /image /app
ENV BACKEND=onnx

# Trains on an NVIDIA GPU through onnxruntime. The driver comes from the node that runs it.
FROM runtime-trainer AS trainer-onnx
COPY --from=prune-trainer-onnx /image /app
COPY --from=onnx-cuda /onnx-cuda/provider/ /app/node_modules/onnxruntime-node/bin/napi-v6/linux/x64/
COPY --from=onnx-cuda /onnx-cuda/lib/ /opt/cuda/lib/
COPY --from=onnx-cuda /onnx-cuda/licenses/ /opt/cuda/licenses/
ENV BACKEND=onnx-cuda LD_LIBRARY_PATH=/opt/cuda/lib CUDA_CACHE_PATH=/cuda-cache
ENV NVIDIA_VISIBLE_DEVICES=all NVIDIA_DRIVER_CAPABILITIES=compute,utility

FROM runtime AS engine
COPY --from=prune-engine /image /app
# The seed model, where no volume brings others.
COPY models/seed /models/seed
ENV PORT=8000
EXPOSE 8000
ENTRYPOINT ["node", "apps/engine/dist/main.js"]

FROM runtime AS demo-judge
COPY --from=prune-demo-judge /image /app
ENV PORT=8001
EXPOSE 8001
ENTRYPOINT ["node", "apps/demo-judge/dist/main.js"]

# Trains on an NVIDIA GPU through TensorFlow. Its base is not Node's, so what `runtime` sets is set again.
FROM ${NODE_IMAGE} AS node
FROM ${CUDA_IMAGE} AS trainer
RUN install -d -o 10001 -g 10001 /data /policies /cuda-cache && install -d /models
COPY --from=node /usr/local/bin/node /usr/local/bin/node
COPY models/seed /models/seed
COPY --from=prune-trainer /image /app
COPY --from=tensorflow /tensorflow /opt/tensorflow
WORKDIR /app
ENV NODE_ENV=production DATA_DIR=/data PORT=8084
ENV BACKEND=tfjs-node-gpu TFJS_NODE_DIR=/opt/tensorflow TF_FORCE_GPU_ALLOW_GROWTH=true
ENV MODEL_DIR=/models/seed POLICY_DIR=/policies CUDA_CACHE_PATH=/cuda-cache
EXPOSE 8084
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 CMD ["node", "healthcheck.mjs"]
ARG VERSION=0.1.0
ARG REVISION=unknown
LABEL org.opencontainers.image.title="Hindcast" \
      org.opencontainers.image.licenses="MIT" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
USER 10001:10001
ENTRYPOINT ["node", "apps/trainer/dist/main.js"]
