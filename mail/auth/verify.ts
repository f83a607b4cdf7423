import type { Readable } from 'node:stream';
import type { DKIMResult, DKIMVerifyResult, DMARCResult, DNSResolver } from 'mailauth';
import type { arc } from 'mailauth/lib/arc/index.js';
import type { Asker } from './asker.ts';
import type { Authentication, Dmarc } from './authentication.ts';

/** What the parts of the library are asked with. */
export interface Question {
  input: Readable;
  asker: Asker;
  ip: string;
  helo: string;
  /** Envelope sender, '' for the null reverse-path. */
  sender: string;
  /** Our own name. */
  hostname: string;
}

export const NO_AUTHOR = { policy: 'none', domain: '', organization: '' } as const;

/** Has the library evaluate everything, and reads what it found in our own words. */
export async function verify({ input, asker, ip, helo, sender, hostname }: Question): Promise<Authentication> {
  // Each part by itself, when the first message needs it: together they hold up the thread, and most is for other uses.
  const { dkimVerify } = await import('mailauth/lib/dkim/verify.js');
  const library = { ...(await import('mailauth/lib/spf/index.js')), ...(await import('mailauth/lib/dmarc/index.js')) };
  const { arc: verifyChain } = await import('mailauth/lib/arc/index.js');
  const resolver = asker.ask as DNSResolver;
  const [dkim, spf] = await Promise.all([
    dkimVerify(input, { resolver, sender, rejectRsaSha1: true }),
    library.spf({ ip, helo, sender, mta: hostname, resolver }),
  ]);
  const signatures = dkim.results.filter(({ status }) => status.result !== 'none').map(signatureOf);
  const found = {
    spf: { result: spf.status.result, domain: spf.domain },
    dkim: signatures.map(({ result, domain, selector }) => ({ result, domain, selector })),
  };
  const dmarc = await library.dmarc({
    headerFrom: dkim.headerFrom,
    fromFields: dkim.fromFields,
    spfDomains: found.spf.result === 'pass' ? [spf.domain] : [],
    dkimDomains: signatures.filter(({ result }) => result === 'pass'),
    resolver,
  });
  const unsure = [found.spf, ...found.dkim].some(({ result }) => result === 'temperror');
  return { ...found, dmarc: dmarcOf(dmarc, unsure), arc: await chainOf(dkim, verifyChain, asker) };
}

type Signature = Authentication['dkim'][number] & Pick<DKIMResult['status'], 'aligned'>;

function signatureOf({ status, signingDomain = '', selector = '' }: DKIMResult): Signature {
  // One that leaves the end of the body open says nothing of what stands there (RFC 6376 8.2).
  const open = status.result === 'pass' && (status.underSized ?? 0) > 0;
  return { result: open ? 'policy' : status.result, domain: signingDomain, selector, aligned: status.aligned ?? false };
}

/** `unsure`: something below could not be looked up and might have passed. */
function dmarcOf(found: DMARCResult | false, unsure: boolean): Dmarc {
  // RFC 7489 6.6.1: without exactly one author domain there is nobody to ask.
  if (found === false) return { result: 'permerror', ...NO_AUTHOR };
  const from: unknown = found.status.header?.['from'];
  const domain = typeof from === 'string' ? from.toLowerCase() : '';
  const policy = found.policy === 'reject' || found.policy === 'quarantine' ? found.policy : 'none';
  const rest = { policy, domain, organization: found.domain || domain } as const;
  const { result } = found.status;
  if (result === 'pass' || result === 'none') return { result, ...rest };
  return { result: result === 'fail' && !unsure ? 'fail' : 'temperror', ...rest };
}

type VerifyChain = typeof arc;

async function chainOf(dkim: DKIMVerifyResult, verifyChain: VerifyChain, asker: Asker): Promise<Authentication['arc']> {
  // Its type is not that of what it is asked with, in the library's own declarations.
  const chain = dkim.arc as unknown as Parameters<VerifyChain>[0];
  const { status } = await verifyChain(chain, { resolver: asker.ask as DNSResolver });
  if (status.result === 'pass' || status.result === 'none') return status.result;
  // The library calls a key that could not be looked up a failure; it is only not known.
  return asker.troubled ? 'temperror' : 'fail';
}
