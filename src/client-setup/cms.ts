import { createHash, createPrivateKey, sign, X509Certificate } from 'node:crypto';
import { der, elementsIn, NULL, objectId, octetString, sequence, setOf, smallInteger, utcTime } from './der.ts';

const DATA = objectId('1.2.840.113549.1.7.1');
const SIGNED_DATA = objectId('1.2.840.113549.1.7.2');
const CONTENT_TYPE = objectId('1.2.840.113549.1.9.3');
const MESSAGE_DIGEST = objectId('1.2.840.113549.1.9.4');
const SIGNING_TIME = objectId('1.2.840.113549.1.9.5');
const SHA256 = sequence(objectId('2.16.840.1.101.3.4.2.1'));
const ECDSA_SHA256 = sequence(objectId('1.2.840.10045.4.3.2'));
const RSA = sequence(objectId('1.2.840.113549.1.1.1'), NULL);

const PEM = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** Signs data with the key of a certificate; the data and the chain are in the result. CMS SignedData, RFC 5652 5. */
export function signCms(data: Uint8Array, { cert, key }: { cert: string; key: string }, now: number): Buffer {
  const chain = (cert.match(PEM) ?? []).map((pem) => new X509Certificate(pem).raw);
  const [leaf] = chain;
  if (leaf === undefined) throw new TypeError('there is no certificate to sign with');
  const privateKey = createPrivateKey(key);
  const attributes = [
    attribute(CONTENT_TYPE, DATA),
    attribute(SIGNING_TIME, utcTime(now)),
    attribute(MESSAGE_DIGEST, octetString(createHash('sha256').update(data).digest())),
  ];
  // RFC 5652 5.4: signed as SET OF, and stored under a tag of its own.
  const signed = setOf(...attributes);
  const signer = sequence(
    smallInteger(1),
    issuerAndSerial(leaf),
    SHA256,
    Buffer.concat([Buffer.of(0xa0), signed.subarray(1)]),
    privateKey.asymmetricKeyType === 'rsa' ? RSA : ECDSA_SHA256,
    octetString(sign('sha256', signed, privateKey)),
  );
  const content = sequence(
    smallInteger(1),
    setOf(SHA256),
    sequence(DATA, der(0xa0, octetString(data))),
    der(0xa0, ...chain),
    setOf(signer),
  );
  return sequence(SIGNED_DATA, der(0xa0, content));
}

function attribute(type: Buffer, value: Buffer): Buffer {
  return sequence(type, setOf(value));
}

/** Issuer and serial number, the second and fourth field of a certificate with a version. RFC 5280 4.1. */
function issuerAndSerial(certificate: Buffer): Buffer {
  const [whole] = elementsIn(certificate);
  const [body] = elementsIn(whole?.content ?? Buffer.alloc(0));
  const fields = elementsIn(body?.content ?? Buffer.alloc(0));
  const [serial, , issuer] = fields[0]?.tag === 0xa0 ? fields.slice(1) : fields;
  if (serial === undefined || issuer === undefined) throw new TypeError('the certificate is damaged');
  return sequence(issuer.raw, serial.raw);
}
