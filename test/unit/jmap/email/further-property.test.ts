import { expect, test } from 'vitest';
import { UNKNOWN } from '../../../../mail/auth/authenticate.ts';
import { MAILSTEAD } from '../../../../mail/jmap/capabilities.ts';
import { addFurther, furtherOf, type FurtherProperty } from '../../../../mail/jmap/email/further-property.ts';
import type { Call } from '../../../../mail/jmap/method.ts';
import { MAIL_POLICY } from '../../../../mail/policy/mail-policy.ts';
import type { Judging } from '../../../../mail/receiver/intake-desk.ts';
import { judgedOf } from '../../../../mail/store/judged.ts';
import { arrive, testIntake } from '../../../support/arrivals.ts';
import { jmapWorld } from '../../../support/jmap-world.ts';

const story: FurtherProperty = {
  name: 'mailstead:story',
  capability: MAILSTEAD,
  read: (_call, account, emails) => Promise.resolve(new Map(emails.slice(1).map((id) => [id, `${account}/${id}`]))),
};

const using = (...capabilities: string[]): Call => ({ using: new Set(capabilities) }) as unknown as Call;

test('a further property is there for who uses its capability, and null where it has no value', async () => {
  expect(furtherOf(using('urn:x'), [story])).toEqual([]);
  const call = using(MAILSTEAD);
  const objects: Record<string, unknown>[] = [{ id: 'a' }, { id: 'b' }];
  await addFurther(call, 7, [1, 2], objects, furtherOf(call, [story]));
  expect(objects).toEqual([
    { id: 'a', 'mailstead:story': null },
    { id: 'b', 'mailstead:story': '7/2' },
  ]);
});

test('Email/get has the trust and the verdict of mail from outside, and null of what was written here', async () => {
  await using world = await jmapWorld();
  const { store } = world.box;
  const findings = [{ rule: 'words', score: 6, why: 'Its words are like those of your junk' }];
  const judging: Judging = {
    checks: true,
    network: true,
    slows: () => false,
    judge: {
      judge: ({ accounts }) =>
        Promise.resolve({
          authentication: UNKNOWN,
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
  await arrive(testIntake(world.box, { judging }), { from: 'a@remote.example', to: 'me@box.test', body });
  await arrive(testIntake(world.box), { from: 'a@remote.example', to: 'me@box.test', body });
  const { ids } = await world.call('Email/query', { sort: [{ property: 'receivedAt' }] });
  const properties = ['mailstead:trust', 'mailstead:verdict', 'keywords'];
  const { list } = await world.call('Email/get', { ids, properties });
  expect(list).toMatchObject([
    {
      'mailstead:trust': { knownSender: true, verdict: 'suspicious' },
      'mailstead:verdict': { outcome: 'junk', score: 6, findings },
      keywords: { $junk: true },
    },
    { 'mailstead:trust': null, 'mailstead:verdict': null, keywords: {} },
  ]);
  await expect(store.read(judgedOf, { emails: [] })).resolves.toEqual(new Map());
});
