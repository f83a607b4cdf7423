import { X509Certificate } from 'node:crypto';
import { type Checked, fail, pass } from './checked.ts';

/** Of the days that a certificate has left: fewer are told. */
const SOON_DAYS = 7;

/** Whether the certificate that every door shows is good for the public name. `now` in ms UTC. */
export function certificateCheck(
  { pem, selfSigned }: { pem: string; selfSigned: boolean },
  hostname: string,
  now: number,
): Checked {
  const read = new X509Certificate(pem);
  const set = `Set MAILSTEAD_TLS_CERT and MAILSTEAD_TLS_KEY to a certificate for ${hostname}.`;
  if (selfSigned) return fail('the certificate is self-signed: others cannot tell that it is ours', set);
  if (read.checkHost(hostname) === undefined) return fail(`the certificate is not for ${hostname}`, set);
  const days = Math.floor((read.validToDate.getTime() - now) / 86_400_000);
  if (days < 0 || read.validFromDate.getTime() > now) return fail('the certificate is not valid now', RENEW);
  const detail = `the certificate is for ${hostname}, and valid for ${days} more days`;
  return days < SOON_DAYS ? { ...pass(detail), fix: RENEW } : pass(detail);
}

const RENEW = 'Renew the certificate: its files are read again when they change.';
