import { hash, type X509Certificate } from 'node:crypto';
import { TLSSocket } from 'node:tls';

/** The data of a channel binding type of this connection; undefined: it has no such binding. RFC 5056. */
export type ChannelBinding = (type: string) => Buffer | undefined;

const EXPORTER_LABEL = 'EXPORTER-Channel-Binding';
const EXPORTER_OCTETS = 32;

/** The channel bindings of a connection; undefined without TLS. */
export function channelBindingOf(socket: unknown): ChannelBinding | undefined {
  if (!(socket instanceof TLSSocket)) return undefined;
  return (type) => {
    if (type === 'tls-exporter') return exported(socket);
    return type === 'tls-server-end-point' ? certificateHash(socket.getX509Certificate()) : undefined;
  };
}

/** RFC 9266 2. Only TLS 1.3: before it the binding is unique only with an extended master secret. */
function exported(socket: TLSSocket): Buffer | undefined {
  if (socket.getProtocol() !== 'TLSv1.3') return undefined;
  return socket.exportKeyingMaterial(EXPORTER_OCTETS, EXPORTER_LABEL, Buffer.alloc(0));
}

/** RFC 5929 4.1: the hash of the certificate by the function of its signature, but SHA-256 instead of MD5 and SHA-1. */
function certificateHash(certificate: X509Certificate | undefined): Buffer | undefined {
  if (certificate === undefined) return undefined;
  const signature = certificate.signatureAlgorithm ?? '';
  if (/ed25519|ed448|pss/i.test(signature)) return undefined;
  const [, bits = '256'] = /sha-?(256|384|512)/i.exec(signature) ?? [];
  return hash(`sha${bits}`, certificate.raw, 'buffer');
}
