# fogpost in a container:
#   docker build -t fogpost .
#   docker run --rm -v club:/club fogpost init      # then edit config.toml in the volume
#   docker run -d -v club:/club fogpost
#
# Only the stage `fetched` needs the network: it downloads what Cargo.lock names. For a machine without a network, build
# that stage elsewhere (docker build --target fetched), copy the image over, and build the rest with --network none.

FROM rust:1.95-slim-bookworm AS fetched
WORKDIR /src
COPY Cargo.toml Cargo.lock ./
COPY benches benches
COPY crates crates
RUN mkdir src && echo 'fn main() {}' > src/main.rs && cargo fetch --locked

FROM fetched AS built
COPY . .
RUN cargo build --release --offline --locked && mkdir /club

# This image has glibc, the certificate authorities for TLS and a user other than root, but no shell.
FROM gcr.io/distroless/cc-debian12:nonroot
COPY --from=built /src/target/release/fogpost /usr/local/bin/fogpost
# For config.toml, the database, templates and files with passwords.
COPY --from=built --chown=nonroot:nonroot /club /club
VOLUME /club
WORKDIR /club
# Freed memory goes back to the system after 10 ms instead of a second.
ENV MIMALLOC_PURGE_DELAY=10
HEALTHCHECK --interval=60s --timeout=10s --start-period=60s CMD ["fogpost", "status"]
ENTRYPOINT ["fogpost"]
CMD ["run"]
