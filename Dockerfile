# docker build -t electop . && docker run --read-only -it electop --http-addr consul:8500
FROM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN CGO_ENABLED=0 go build -tags grpcnotrace -trimpath -ldflags "-s -w" -o /electop . && mkdir /state

FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=build /electop /electop
# Only the history is written. A volume keeps it across containers.
COPY --from=build --chown=65532:65532 /state /state
ENV XDG_STATE_HOME=/state
VOLUME /state
USER 65532:65532
ENTRYPOINT ["/electop"]
