import type { QuotaUse } from '../../store/account/quota.ts';
import { no, ok } from '../tagged-response.ts';
import { LOGGED_IN } from '../command.ts';
import type { ImapCommand } from '../command.ts';
import { mailbox } from '../wire/encoder.ts';

/** Quota root of the account, which all its mailboxes share. */
const ROOT = '""';
/** RFC 9208 5.1: STORAGE counts units of 1,024 octets. */
const UNIT = 1024;

/** GETQUOTAROOT. RFC 9208 4.1.2. Changes nothing, as clients use it to probe connections. */
export const getQuotaRoot: ImapCommand<string> = {
  name: 'GETQUOTAROOT',
  states: LOGGED_IN,
  capabilities: ['QUOTA', 'QUOTA=RES-STORAGE', 'QUOTA=RES-MESSAGE'],
  parse: (d) => d.sp().mailbox(),

  async run(session, name) {
    const found = await session.store.mailbox(name);
    if (found === undefined) return no('NONEXISTENT', 'No such mailbox');
    const use = await session.store.quota();
    // The quota of another account is its owner's business.
    const limited = isLimited(use) && found.rights === undefined;
    session.write(`* QUOTAROOT ${mailbox(name, session.utf8)}${limited ? ` ${ROOT}` : ''}\r\n`);
    if (limited) session.write(quotaResponse(use));
    return ok('Quota roots listed');
  },
};

/** GETQUOTA. RFC 9208 4.1.1. */
export const getQuota: ImapCommand<string> = {
  name: 'GETQUOTA',
  states: LOGGED_IN,
  parse: (d) => d.sp().astring(),

  async run(session, root) {
    const use = await session.store.quota();
    if (root !== '' || !isLimited(use)) return no('NONEXISTENT', 'No such quota root');
    session.write(quotaResponse(use));
    return ok('Quota listed');
  },
};

/** SETQUOTA. RFC 9208 4.1.3; QUOTASET is not offered, so that clients do not ask. */
export const setQuota: ImapCommand<undefined> = {
  name: 'SETQUOTA',
  states: LOGGED_IN,

  parse(d) {
    d.sp().astring();
    d.sp().list((each) => [each.atom(), each.sp().number64()]);
    return undefined;
  },

  run: () => no('NOPERM', 'Quotas are set by the administrator of the mailbox, not by IMAP'),
};

function isLimited({ quotaBytes, quotaCount }: QuotaUse): boolean {
  return quotaBytes !== null || quotaCount !== null;
}

/** RFC 9208 4.2.1. Only resources with a limit: an unlimited one has no number that clients understand. */
function quotaResponse({ usedBytes, quotaBytes, usedCount, quotaCount }: QuotaUse): string {
  const resources = [
    ...(quotaBytes === null ? [] : [`STORAGE ${Math.ceil(usedBytes / UNIT)} ${Math.floor(quotaBytes / UNIT)}`]),
    ...(quotaCount === null ? [] : [`MESSAGE ${usedCount} ${quotaCount}`]),
  ];
  return `* QUOTA ${ROOT} (${resources.join(' ')})\r\n`;
}
