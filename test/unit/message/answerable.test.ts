import { describe, expect, test } from 'vitest';
import { parseAddress } from '../../../mail/message/address.ts';
import { noReplyReason } from '../../../mail/message/no-reply-reason.ts';
import { readFields } from '../../../mail/message/header.ts';

const OWN = new Set(['me@box.test', 'sales@box.test']);
const PERSON = 'From: Ann <ann@remote.example>\nTo: Me <me@box.test>\nSubject: Lunch?';

function queried(header: string, sender = 'ann@remote.example'): string | undefined {
  return noReplyReason(parseAddress(sender), readFields(`${header}\n\n`.replace(/\n/g, '\r\n')), OWN);
}

describe('mail that a program answers for a person', () => {
  test.each([
    ['from a person to me', PERSON],
    ['to an alias of mine', PERSON.replace('me@', 'Sales@')],
    ['to a plus form', PERSON.replace('me@', 'me+shop@')],
    ['in Cc', 'From: ann@remote.example\nTo: x@y.example\nCc: z@y.example, me@box.test'],
    ['in Bcc that is shown', 'From: ann@remote.example\nTo: x@y.example\nBcc: me@box.test'],
    ['sent on by a person', 'From: bob@y.example\nTo: ann@remote.example\nResent-To: me@box.test'],
    ['in a group', 'From: ann@remote.example\nTo: Team: x@y.example, me@box.test;'],
    ['of which a person says that no program sent it', `${PERSON}\nAuto-Submitted: no`],
    ['the same with a comment', `${PERSON}\nAuto-Submitted: (really) no (yes)`],
    ['that is urgent', `${PERSON}\nPrecedence: first-class`],
    ['that wants no notices of delivery', `${PERSON}\nX-Auto-Response-Suppress: DR, RN, NRN`],
    ['from somebody who is called Norbert', PERSON.replace('ann@', 'norbert@')],
    ['from an owner', PERSON, 'owner@remote.example'],
    ['from a root that is a name', PERSON, 'rooted@remote.example'],
  ])('%s', (_what, header, sender?: string) => {
    expect(queried(header, sender)).toBeUndefined();
  });
});

describe('mail that gets no answer', () => {
  test.each([
    ['a bounce', PERSON, '', 'no-sender'],
    ['my own', PERSON, 'me@box.test', 'own'],
    ['my own from a plus form', PERSON, 'Me+x@box.test', 'own'],
    ['one that says it is mine', PERSON.replace('ann@remote.example', 'sales@box.test'), undefined, 'own'],
    ...[
      'no-reply@a.example',
      'noreply@a.example',
      'No_Reply+17@a.example',
      'do-not-reply@a.example',
      'donotreply@a.example',
      'shop-noreply@a.example',
      'MAILER-DAEMON@a.example',
      'postmaster@a.example',
      'owner-list@a.example',
      'list-request@a.example',
      'list-owner@a.example',
      'list-bounces@a.example',
      'list-bounces+me=box.test@a.example',
      'bounce+abc@a.example',
      'bounces-12@a.example',
      'prvs=123=ann@a.example',
      'listserv@a.example',
      'majordomo@a.example',
      'notifications@a.example',
      'auto-reply@a.example',
    ].map((sender): [string, string, string, string] => [`one from ${sender}`, PERSON, sender, 'program']),
    ['a person’s through a list’s From', PERSON.replace('ann@', 'noreply@'), undefined, 'program'],
    ['one of a program', `${PERSON}\nAuto-Submitted: auto-generated`, undefined, 'automatic'],
    ['an answer of a program', `${PERSON}\nAUTO-SUBMITTED: auto-replied; x=y`, undefined, 'automatic'],
    ['a notice of a program', `${PERSON}\nAuto-Submitted:\n auto-notified`, undefined, 'automatic'],
    ...['Id', 'Post', 'Help', 'Unsubscribe', 'Subscribe', 'Owner', 'Archive'].map(
      (name): [string, string, undefined, string] => [
        `one with List-${name}`,
        `${PERSON}\nList-${name}: <x>`,
        undefined,
        'list',
      ],
    ),
    ...['bulk', 'Junk', 'list'].map((word): [string, string, undefined, string] => [
      `Precedence: ${word}`,
      `${PERSON}\nPrecedence: ${word}`,
      undefined,
      'bulk',
    ]),
    ['a report', `${PERSON}\nContent-Type: multipart/report; report-type=x`, undefined, 'report'],
    ['one that forbids it', `${PERSON}\nX-Auto-Response-Suppress: OOF, AutoReply`, undefined, 'suppressed'],
    ['one that forbids everything', `${PERSON}\nX-Auto-Response-Suppress: All`, undefined, 'suppressed'],
    ['what went round', `${PERSON}\nX-Loop: me@box.test`, undefined, 'automatic'],
    ['a mailing', `${PERSON}\nFeedback-ID: 1:2:3`, undefined, 'automatic'],
    ['a blind copy', 'From: ann@remote.example\nTo: undisclosed-recipients:;', undefined, 'not-named'],
    ['one to somebody else', 'From: ann@remote.example\nTo: me@box.example', undefined, 'not-named'],
    [
      'one that names me in words only',
      'From: ann@remote.example\nTo: "me@box.test" <x@y.example>',
      undefined,
      'not-named',
    ],
    ['one without any name', 'From: ann@remote.example', undefined, 'not-named'],
  ])('%s', (_what, header, sender, why) => {
    expect(queried(header, sender)).toBe(why);
  });
});
