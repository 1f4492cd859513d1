# syntax=docker/dockerfile:1
ARG VERSION=1.2
# Builds the shop.
FROM rust:${VERSION} AS build
WORKDIR /src
COPY . .
RUN cargo build --release && \
    strip target/release/shop
ENV MODE=fast LEVEL=3

FROM debian:bookworm-slim AS run
LABEL org.shop="yes"
COPY --from=build /src/target/release/shop /usr/bin/shop
ARG PORT
EXPOSE 8080/tcp
USER nobody
HEALTHCHECK CMD shop health
ENTRYPOINT ["shop"]
CMD ["serve"]

FROM run
ENV OLD style
