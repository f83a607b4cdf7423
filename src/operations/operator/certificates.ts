import { z } from 'zod';
import { type CertificateState, certificateStates } from '../../certificates/state.ts';
import { renewNow } from '../../certificates/commands.ts';
import { isoOf, isoOrNull } from '../../core/schemas.ts';
import { operation } from '../../core/operation.ts';
import { refuse } from '../../core/refusal.ts';

const Certificate = z.object({
  name: z.string(),
  algorithm: z.string(),
  status: z.enum(['valid', 'renewal_failing', 'expired', 'missing']),
  names: z.array(z.string()),
  notAfter: z.string().nullable(),
  renewAt: z.string().nullable(),
  failures: z.number(),
  error: z.string().nullable(),
  retryAt: z.string().nullable(),
  refusedNames: z.array(z.object({ name: z.string(), error: z.string(), retryAt: z.string() })),
});

export const listCertificates = operation({
  name: 'list_certificates',
  title: 'List certificates',
  toolset: 'deploy',
  reach: 'organization',
  action: 'read',
  socketOnly: true,
  description: 'Lists the certificates from the ACME authority, with failures and the next attempt. Changes nothing.',
  hints: { readOnly: true, idempotent: true },
  input: z.strictObject({}),
  output: z.object({
    automatic: z.boolean(),
    selfSigned: z.boolean(),
    certificates: z.array(Certificate),
    tlsa: z.array(z.string()).describe('TLSA records of the MX listener, to publish where the zone is signed'),
  }),
  async run(call) {
    const { certificates, tlsa } = await certificateStates(call);
    return {
      automatic: call.settings.acme !== undefined,
      selfSigned: call.certificate().selfSigned,
      certificates: certificates.map(shown),
      tlsa,
    };
  },
});

export const renewCertificate = operation({
  name: 'renew_certificate',
  title: 'Renew a certificate now',
  toolset: 'deploy',
  reach: 'organization',
  action: 'manage',
  socketOnly: true,
  description:
    'Makes a certificate due: it is ordered within a minute, also if the last order failed a short time ago.',
  hints: { idempotent: true, openWorld: true },
  input: z.strictObject({ name: z.string().min(1).max(253).describe('As list_certificates shows it') }),
  output: z.object({ due: z.literal(true) }),
  async run(call, { name }) {
    if (call.settings.acme === undefined) {
      return refuse('conflict', 'Automatic certificates are off: set MAILSTEAD_ACME_EMAIL and restart.');
    }
    const found = await call.change(renewNow, { name: name.toLowerCase() }, name);
    return found ? { due: true as const } : refuse('not_found', `No certificate ${name}: list_certificates shows all.`);
  },
});

function shown(one: CertificateState): z.output<typeof Certificate> {
  return {
    ...one,
    notAfter: isoOrNull(one.notAfter),
    renewAt: isoOrNull(one.renewAt),
    retryAt: isoOrNull(one.retryAt),
    refusedNames: one.refusedNames.map((row) => ({ ...row, retryAt: isoOf(row.retryAt) })),
  };
}
