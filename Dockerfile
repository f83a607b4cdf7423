FROM node:24-slim

WORKDIR /opt/mailstead
# The image has its own Node; the one that comes as a dependency stays out.
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev --omit=optional --ignore-scripts && npm cache clean --force
COPY bin bin
COPY config config
COPY docs docs
COPY mail mail
COPY src src

ENV MAILSTEAD_DATA_DIR=/data \
    MAILSTEAD_LISTEN=0.0.0.0 \
    NODE_ENV=production
RUN useradd --system --uid 10001 mailstead && install -d -m 0700 -o mailstead -g mailstead /data \
 && install -d -o mailstead -g mailstead node_modules/.cache
USER mailstead
VOLUME /data
EXPOSE 25 80 143 443 465 587 993 2143 2465 2525 2587 2993 8080 8443
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=5s --start-period=10s \
  CMD ["node", "-e", "const port = process.env.MAILSTEAD_HTTP_PORT || (process.env.MAILSTEAD_HOSTNAME ? 80 : 8080); fetch(`http://127.0.0.1:${port}/readyz`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
CMD ["bin/mailstead", "serve"]
