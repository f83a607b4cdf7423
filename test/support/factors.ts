import { query } from '../../mail/store/engine/types.ts';
import { Passwords } from '../../src/people/password.ts';
import { changePassword } from '../../src/people/password-commands.ts';
import type { Role } from '../../src/people/member-commands.ts';
import { totpCode } from '../../src/people/totp.ts';
import type { ConsentWorld, Someone } from './consent-world.ts';
import type { Said } from './mcp.ts';
import type { Visitor } from './visitor.ts';

export const PASSWORD = 'a calculus of logic';
const SECURITY = '/account/security';

/** Somebody with a password, signed in by it. */
export async function passwordPerson(box: ConsentWorld, role: Role = 'owner', organization = 1): Promise<Someone> {
  const person = await box.someone(role, organization);
  const { user, visitor, email } = person;
  const password = (await new Passwords().hash(PASSWORD)) ?? '';
  const done = await box.world.store.write(changePassword, { user, expected: null, password, session: 0 });
  if (done.kind !== 'changed') throw new Error(`no password: ${done.kind}`);
  visitor.cookie = undefined;
  await visitor.signIn(email, PASSWORD);
  return person;
}

/** Key that an enrollment shows, decoded. */
export function shownKey({ text }: Said): Buffer {
  const shown = /aria-label="Key">([A-Z2-7 ]+)</.exec(text)?.[1]?.replaceAll(' ', '') ?? '';
  return fromBase32(shown);
}

function fromBase32(text: string): Buffer {
  const bits = text
    .split('')
    .map((one) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(one).toString(2).padStart(5, '0'));
  const octets = bits.join('').match(/.{8}/g) ?? [];
  return Buffer.from(octets.map((one) => Number.parseInt(one, 2)));
}

/** The code that the app shows at a time. */
export function codeAt(key: Buffer, now: number): string {
  return totpCode(key, Math.floor(now / 30_000));
}

/** Recovery codes that a page shows. */
export function shownCodes({ text }: Said): string[] {
  return text.match(/\b(?:[A-HJ-NP-Z2-9]{4}-){3}[A-HJ-NP-Z2-9]{4}\b/g) ?? [];
}

/** Enrolls an authenticator app. */
export async function enrolled(visitor: Visitor, clock: { now: number }): Promise<{ key: Buffer; codes: string[] }> {
  const key = shownKey(await visitor.act(SECURITY, 'start'));
  const codes = shownCodes(await visitor.act(SECURITY, 'confirm', { code: codeAt(key, clock.now) }));
  if (codes.length !== 10) throw new Error(`not enrolled: ${codes.length} codes`);
  // The next code of the app.
  clock.now += 30_000;
  return { key, codes };
}

/** Everything that is stored of the second factors of a person. */
export const everyFactor = query('test-every-factor', async (rx, input: { user: number }) => [
  await rx.all('SELECT * FROM totp WHERE user_id = ?', input.user),
  await rx.all('SELECT * FROM recovery_code WHERE user_id = ?', input.user),
]);

/** Operations of a person in the audit log, in order. */
export const auditedOperations = query(
  'test-audited-operations',
  async (rx, input: { target: string }): Promise<string[]> => {
    const rows = await rx.all<{ operation: string }>(
      'SELECT operation FROM audit WHERE target = ? ORDER BY id',
      input.target,
    );
    return rows.map((row) => row.operation);
  },
);
