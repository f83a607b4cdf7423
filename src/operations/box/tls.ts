import { X509Certificate } from 'node:crypto';
import { z } from 'zod';
import { operation } from '../operation.ts';
import { isoOf } from '../schemas.ts';

export const tlsStatus = operation({
  name: 'get_tls_status',
  title: 'The certificate of this box',
  toolset: 'domains',
  reach: 'organization',
  action: 'read',
  operatorOnly: true,
  description: 'For the operator: names, issuer and end of the certificate that every door shows. Changes nothing.',
  hints: { readOnly: true, idempotent: true },
  input: z.strictObject({}),
  output: z.object({
    hostname: z.string(),
    selfSigned: z.boolean(),
    names: z.string(),
    issuer: z.string(),
    validFrom: z.string(),
    validTo: z.string(),
    daysLeft: z.number(),
    fits: z.boolean(),
    next: z.string(),
  }),
  async run({ certificate, settings, clock }) {
    const { pem, selfSigned } = certificate();
    const read = new X509Certificate(pem);
    const end = read.validToDate.getTime();
    const fits = read.checkHost(settings.hostname) !== undefined;
    return {
      hostname: settings.hostname,
      selfSigned,
      names: read.subjectAltName ?? read.subject,
      issuer: read.issuer,
      validFrom: isoOf(read.validFromDate.getTime()),
      validTo: isoOf(end),
      daysLeft: Math.floor((end - clock()) / 86_400_000),
      fits,
      next: selfSigned
        ? 'Set MAILSTEAD_TLS_CERT and MAILSTEAD_TLS_KEY: mail programs warn of a self-signed certificate.'
        : 'Nothing is left to do: the files are read again when they change.',
    };
  },
});
