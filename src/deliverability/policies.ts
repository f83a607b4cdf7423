import { walk } from '../../mail/auth/dmarc-walk.ts';
import type { Resolver } from '../../mail/dns/lookup.ts';
import type { FetchStsPolicy } from '../../mail/relay/tls-policy/sts-fetch.ts';
import { matchesMx, readStsRecord } from '../../mail/relay/tls-policy/sts-text.ts';
import { DMARC_TEXT } from '../domains/records.ts';
import { type Checked, fail, pass, unknown } from './checked.ts';

/** What a domain, or the organization above it, publishes for DMARC. RFC 9989 4.10. */
export async function dmarcCheck(domain: string, resolver: Resolver): Promise<Checked> {
  const { records, organization, troubled } = await walk(domain, resolver);
  const own = records.find((one) => one.domain === domain);
  const found = own ?? records.find((one) => one.domain === organization);
  if (found === undefined) {
    if (troubled) return unknown(`the DNS did not say what _dmarc.${domain} has`);
    const fix = `Publish the TXT record _dmarc.${domain} with "${DMARC_TEXT}": large receivers want one of whoever writes much.`;
    return fail(`no DMARC record at _dmarc.${domain} or above`, fix);
  }
  const policy = own === undefined ? found.record.below : found.record.policy;
  const detail = `_dmarc.${found.domain} says ${policy}`;
  if (policy !== 'none') return pass(detail);
  return {
    ...pass(`${detail}: receivers only watch`),
    fix: `Advice: once all mail of ${domain} passes, publish p=quarantine at _dmarc.${found.domain}, so that nobody can write in its name.`,
  };
}

/** Whether who sends to a domain is told to demand TLS, and would then reach this server. RFC 8461. */
export async function mtaStsCheck(
  domain: string,
  hostname: string,
  { resolver, fetch }: { resolver: Resolver; fetch: FetchStsPolicy },
): Promise<Checked> {
  const found = await resolver.txt(`_mta-sts.${domain}`);
  if (found.kind === 'trouble') return unknown(`the DNS did not say what _mta-sts.${domain} has`);
  if (found.kind === 'none' || readStsRecord(found.records).kind === 'none') {
    return { status: 'none', detail: `${domain} announces no MTA-STS policy; mail arrives without one too` };
  }
  const fetched = await fetch(domain);
  const mend = `Serve a sound policy at https://mta-sts.${domain}/.well-known/mta-sts.txt, or take _mta-sts.${domain} away.`;
  if (!('policy' in fetched)) return fail(`the announced policy cannot be had: ${fetched.why}`, mend);
  const { mode, mx } = fetched.policy;
  if (mode !== 'none' && !matchesMx(mx, hostname)) {
    return fail(`the policy does not name ${hostname}`, `Add "mx: ${hostname}" to the MTA-STS policy of ${domain}.`);
  }
  return pass(`the policy says ${mode}`);
}
