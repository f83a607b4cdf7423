import { expect, test } from 'vitest';
import { UNAVAILABLE_AUTHENTICATION } from '../../../../mail/auth/authenticate.ts';
import { MAILSTEAD } from '../../../../mail/jmap/core/capabilities.ts';
import {
  addExtensionProperties,
  extensionPropertiesOf,
  type ExtensionProperty,
} from '../../../../mail/jmap/email/extension-properties.ts';
import type { MethodCall } from '../../../../mail/jmap/core/method.ts';
import { MAIL_POLICY } from '../../../../mail/policy/mail-policy.ts';
import type { InboundFilter } from '../../../../mail/receiver/context.ts';
import { filterResultsOf } from '../../../../mail/store/filter/filter-result.ts';
import { receiveMessage, testBackend } from '../../../support/receive-message.ts';
import { createJmapFixture } from '../../../support/jmap-fixture.ts';

const story: ExtensionProperty = {
  name: 'mailstead:story',
  capability: MAILSTEAD,
  read: (_call, account, emails) => Promise.resolve(new Map(emails.slice(1).map((id) => [id, `${account}/${id}`]))),
};

const using = (...capabilities: string[]): MethodCall => ({ using: new Set(capabilities) }) as unknown as MethodCall;

test('an extension property needs its capability in using, and is null without a value', async () => {
  expect(extensionPropertiesOf(using('urn:x'), [story])).toEqual([]);
  const call = using(MAILSTEAD);
  const objects: Record<string, unknown>[] = [{ id: 'a' }, { id: 'b' }];
  await addExtensionProperties(call, 7, [1, 2], objects, extensionPropertiesOf(call, [story]));
  expect(objects).toEqual([
    { id: 'a', 'mailstead:story': null },
    { id: 'b', 'mailstead:story': '7/2' },
  ]);
});

test('Email/get returns trust and verdict of external mail, and null for local mail', async () => {
  await using fixture = await createJmapFixture();
  const { store } = fixture.box;
  const findings = [{ rule: 'words', score: 6, why: 'Its words are like those of your junk' }];
  const filter: InboundFilter = {
    checks: true,
    network: true,
    slows: () => false,
    filter: {
      filter: ({ accounts }) =>
        Promise.resolve({
          authentication: UNAVAILABLE_AUTHENTICATION,
          author: { kind: 'pass', why: '' },
          findings,
          senders: [],
          accounts: accounts.map((account) => ({
            account,
            policy: MAIL_POLICY,
            author: { kind: 'pass' as const, why: '' },
            findings: [],
            known: true,
          })),
        }),
    },
  };
  const body = 'From: a@remote.example\nSubject: x\n\n';
  await receiveMessage(testBackend(fixture.box, { filter }), { from: 'a@remote.example', to: 'me@box.test', body });
  await receiveMessage(testBackend(fixture.box), { from: 'a@remote.example', to: 'me@box.test', body });
  const { ids } = await fixture.call('Email/query', { sort: [{ property: 'receivedAt' }] });
  const properties = ['mailstead:trust', 'mailstead:verdict', 'keywords'];
  const { list } = await fixture.call('Email/get', { ids, properties });
  expect(list).toMatchObject([
    {
      'mailstead:trust': { knownSender: true, verdict: 'suspicious' },
      'mailstead:verdict': { outcome: 'junk', score: 6, findings },
      keywords: { $junk: true },
    },
    { 'mailstead:trust': null, 'mailstead:verdict': null, keywords: {} },
  ]);
  await expect(store.read(filterResultsOf, { emails: [] })).resolves.toEqual(new Map());
});
