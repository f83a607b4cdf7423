import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { NOTICES, type NoticeKind } from '../../../mail/delivery/notice.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const sources = ['mail', 'src'].flatMap((top) =>
  readdirSync(join(root, top), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => `${top}/${file}`),
);
const textOf = (file: string): string => readFileSync(join(root, file), 'utf8');

/** Files that import or re-export a name, not as a type, from a file whose path ends with `from`. */
function importersOf(name: string, from: RegExp): string[] {
  return sources.filter((file) =>
    [...textOf(file).matchAll(/^\s*(?:import|export)\s+(?!type\b)\{([^}]*)\}\s+from\s+'([^']+)'/gm)].some(
      ([, names = '', path = '']) =>
        from.test(path) && names.split(',').some((one) => new RegExp(`^${name}(?:\\s+as\\b|$)`).test(one.trim())),
    ),
  );
}

describe('nothing reaches the queue but a checked submission and a notice of the box', () => {
  test('only these call sendMessage()', () => {
    expect(importersOf('sendMessage', /\/outgoing\.ts$/)).toEqual([
      'mail/delivery/notice.ts',
      'mail/delivery/submission-commit.ts',
    ]);
  });

  // Forwarded mail is queued by deliver.ts, after the loop guard.
  test('only these queue rows', () => {
    expect(importersOf('enqueue', /\/queue\.ts$/)).toEqual(['mail/delivery/deliver.ts', 'mail/delivery/outgoing.ts']);
    expect(importersOf('addRows', /\/queue\.ts$/)).toEqual(['mail/delivery/scheduled-messages.ts']);
    expect(importersOf('addSubmission', /\/queue\.ts$/)).toEqual(['mail/delivery/scheduled-messages.ts']);
    expect(importersOf('enqueueForward', /\/deliver\.ts$/)).toEqual([
      'mail/delivery/outgoing.ts',
      'mail/delivery/scheduled-messages.ts',
    ]);
  });

  test('no file imports any of these modules as a whole', () => {
    const whole =
      /(?:import|export)\s+\*[^'\n]*'[^']*\/(?:outgoing|queue|deliver|notice)\.ts'|import\('[^']*\/(?:outgoing|queue|deliver|notice)\.ts'\)/;
    expect(sources.filter((file) => whole.test(textOf(file)))).toEqual([]);
  });

  test('only the store writes the tables of the queue', () => {
    const writers = sources.filter((file) => /INSERT INTO (?:queue|submission)\b/.test(textOf(file)));
    expect(writers.filter((file) => !file.startsWith('mail/store/'))).toEqual([]);
  });
});

/** Each kind of notice, and the one file whose command sends it. */
const SENDERS: Record<NoticeKind, string> = {
  bounce: 'mail/relay/store-queue.ts',
  'delay-report': 'mail/relay/store-queue.ts',
  'success-report': 'mail/relay/store-queue.ts',
  'dmarc-report': 'src/reports/outgoing-commands.ts',
  'tls-report': 'src/reports/outgoing-commands.ts',
  claim: 'src/bootstrap/commands.ts',
  invitation: 'src/people/member-commands.ts',
  'forward-confirmation': 'src/sending/confirmation-commands.ts',
  'password-reset': 'src/people/password-commands.ts',
  'address-proof': 'src/people/password-commands.ts',
  'new-device': 'src/people/device-commands.ts',
  'approval-request': 'src/approvals/commands.ts',
  'paused-sender': 'src/sending/pause-commands.ts',
  'canary-alert': 'src/canaries/trip-commands.ts',
  'failing-source': 'src/reports/alarm-commands.ts',
  'daily-digest': 'src/digest/commands.ts',
  'digest-reply': 'src/digest/commands.ts',
  'agents-stopped': 'src/digest/commands.ts',
  'tools-changed': 'src/agents/pin-commands.ts',
  'audit-head': 'src/agents/pin-commands.ts',
  'dns-drift': 'src/domains/drift-commands.ts',
  'webhook-failing': 'src/webhooks/commands.ts',
  'webhook-disabled': 'src/webhooks/commands.ts',
  'certificate-failing': 'src/certificates/commands.ts',
  'check-failing': 'src/doctor/health-commands.ts',
};

describe('notices of the box', () => {
  test('are of these kinds', () => {
    expect(Object.keys(NOTICES).sort()).toEqual(Object.keys(SENDERS).sort());
  });

  test('are sent by these files only', () => {
    const senders = [
      ...new Set([...importersOf('sendNotice', /\/notice\.ts$/), ...importersOf('sendNotices', /\/notice\.ts$/)]),
    ];
    expect(senders.sort()).toEqual([...new Set(Object.values(SENDERS))].sort());
    expect(importersOf('sendSuccessReport', /\/notice\.ts$/)).toEqual([
      'mail/delivery/scheduled-messages.ts',
      'mail/delivery/submission-commit.ts',
    ]);
  });

  test.each(Object.entries(SENDERS))('%s is sent by %s alone', (kind, file) => {
    const naming = new RegExp(`(?:SystemNotice<|: )'${kind}'`);
    const sending = [...new Set(Object.values(SENDERS))].filter((one) => naming.test(textOf(one)));
    expect(sending).toEqual([file]);
  });

  test('to an address that somebody else named have a daily limit, and only reports have no sender', () => {
    for (const [kind, properties] of Object.entries(NOTICES)) {
      const { audience, sender } = properties;
      if (audience === 'anyone' || audience === 'person') expect(properties, kind).toHaveProperty('daily', 5);
      expect(sender === 'null', kind).toBe(audience === 'sender' || audience === 'domain');
    }
  });
});
