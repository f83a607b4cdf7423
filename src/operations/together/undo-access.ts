import type { RulesToUndo } from '../../../mail/store/agent-rule-change.ts';
import { undoAppPasswords } from '../../../mail/store/app-password-undo.ts';
import { publicId } from '../../ids.ts';
import { undoApiKeys } from '../../sending/key-commands.ts';
import { undoTokens } from '../../tokens/undo-commands.ts';
import type { Call } from '../operation.ts';

type Detail = Readonly<Record<string, string>>;

/**
 * Ends the access that a token gave: tokens that it made, and where `alsoKeys` is so the email API keys and app passwords
 * that it or any of these made. Answers how many of them still held.
 */
export async function undoAccess(
  call: Call,
  about: RulesToUndo,
  { alsoKeys, detail }: { alsoKeys: boolean; detail: Detail },
): Promise<number> {
  const target = publicId('organization', call.tenant);
  // First of all, so that none of them makes anything anew.
  const { ended, makers } = await call.change(undoTokens, about, target, { ...detail, access: 'tokens' });
  let revoked = ended;
  for (const who of alsoKeys ? makers : []) {
    revoked += await undoKeys(call, { ...about, who }, detail);
    revoked += await undoPasswords(call, { ...about, who }, detail);
  }
  return revoked;
}

async function undoKeys(call: Call, about: RulesToUndo, detail: Detail): Promise<number> {
  const target = publicId('organization', call.tenant);
  let all = 0;
  for (let more = true; more;) {
    const done = await call.change(undoApiKeys, about, target, { ...detail, access: 'keys', madeBy: about.who });
    all += done.revoked;
    more = done.more;
  }
  return all;
}

/** Sessions that were opened with them end at once. */
async function undoPasswords(call: Call, about: RulesToUndo, detail: Detail): Promise<number> {
  const target = publicId('organization', call.tenant);
  let all = 0;
  for (let more = true; more;) {
    const done = await call.change(undoAppPasswords, about, target, {
      ...detail,
      access: 'passwords',
      madeBy: about.who,
    });
    for (const { account, id } of done.revoked) call.revoked(account, [id]);
    all += done.revoked.length;
    more = done.more;
  }
  return all;
}
