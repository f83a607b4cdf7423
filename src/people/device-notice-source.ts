import type { SystemNotice } from '../../mail/delivery/notice.ts';
import { composeNotice, type NoticeContext } from '../notices/compose.ts';
import type { NoticeSource } from '../notices/notifier.ts';
import { ownerAddress, hashedAddress } from '../notices/owners.ts';
import { type NewDevice, newDevices, sendDeviceNotice } from './device-commands.ts';
import type { SignInMethod } from './factor-commands.ts';
import { knownBrowserOf } from './user-agent.ts';

const EVERY_MS = 30_000;

/** Notifies people of sign-ins from new devices. A limited letter is not sent later: it would say what earlier ones said. */
export function newDeviceNotices(
  context: NoticeContext,
): NoticeSource<NewDevice, { notices: readonly SystemNotice<'new-device'>[]; base: string }> {
  const { store } = context;
  return {
    kind: 'new-device',
    everyMs: EVERY_MS,
    event: { level: 'info', message: 'person notified of a new device' },
    async *due() {
      yield* await store.read(newDevices, undefined);
    },
    async compose(device) {
      const owner = ownerAddress(device.email);
      if (owner === undefined) return undefined;
      const { subject, text } = noticeText(device, context);
      const letter = { kind: 'new-device' as const, to: owner.address, subject, text: text.join('\r\n') };
      return { notices: [await composeNotice(context, letter)], base: hashedAddress(owner.base) };
    },
    async mark({ id }, { notices: [notice], base }) {
      if (notice === undefined) return undefined;
      const { kind } = await store.write(sendDeviceNotice, { id, base, notice });
      return kind === 'done' ? undefined : { outcome: kind };
    },
  };
}

const METHODS: Readonly<Record<SignInMethod, string>> = {
  password: 'the password alone',
  link: 'a sign-in link',
  claim: 'a claim link',
  totp: 'a code of the authenticator app',
  recovery: 'a recovery code',
  passkey: 'a passkey',
  provider: 'single sign-on',
};

function noticeText(
  { email, agent, ip, method, createdAt }: NewDevice,
  { settings: { hostname }, baseUrl }: NoticeContext,
): { subject: string; text: string[] } {
  return {
    subject: `New sign-in to ${hostname}`,
    text: [
      'Hello,',
      '',
      `somebody signed in to the portal of the mail server ${hostname} as ${email}, from a browser that was not used before:`,
      '',
      `  Browser: ${knownBrowserOf(agent) ?? 'unknown'}`,
      `  Network address: ${ip}`,
      `  Time: ${new Date(createdAt).toUTCString()}`,
      `  Signed in by: ${METHODS[method]}`,
      '',
      'If it was you, nothing needs to be done.',
      '',
      'If it was not you:',
      `  1. Open ${baseUrl()}/account and set a new password. This signs out all other browsers.`,
      '  2. Set up a second factor under "Sign-in security", so that the password alone is not enough.',
      '  3. Revoke app passwords and disconnect programs that are not yours, on the same page.',
      '',
      'You can turn these letters off under "Sign-in security".',
      '',
      `Mailstead on ${hostname}`,
    ],
  };
}
