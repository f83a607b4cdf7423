import { expect, test } from 'vitest';
import { findAnomaly, type SendingBehavior, type SendingCounts } from '../../../mail/policy/anomaly.ts';

const counts = (over: Partial<SendingCounts> = {}): SendingCounts => ({
  recipients: 0,
  strangers: 0,
  bounced: 0,
  complaints: 0,
  suppressed: 0,
  ...over,
});

/** A sender with the same two weeks behind it on each day. */
function conduct(
  today: Partial<SendingCounts>,
  over: Partial<SendingBehavior> = {},
  usual: Partial<SendingCounts> = {},
  days = 14,
): SendingBehavior {
  const before = Array.from({ length: days }, () => counts(usual));
  return { kind: 'mailbox', hour: counts(today), days: [counts(today), ...before], eased: false, ...over };
}

test('who has no history may meet 100 strangers in an hour, not 101', () => {
  expect(findAnomaly(conduct({ recipients: 100, strangers: 100 }))).toBeUndefined();
  expect(findAnomaly(conduct({ recipients: 101, strangers: 101 }))).toEqual({
    why: 'it wrote to 101 new recipients within an hour; which is unusual for it',
    figures: { newRecipients: 101, limit: 100, usualNewRecipientsADay: 0 },
  });
});

test('a slow flood is seen over the day', () => {
  const day = { recipients: 301, strangers: 301 };
  const slow = conduct(day, { hour: counts({ recipients: 20, strangers: 20 }) });
  expect(findAnomaly(slow)?.why).toBe('it wrote to 301 new recipients on one day; which is unusual for it');
});

test('a program greets more people, and less than 501 of them in an hour surprise nobody', () => {
  const key = { kind: 'key' } as const;
  expect(findAnomaly(conduct({ recipients: 500, strangers: 500 }, key))).toBeUndefined();
  expect(findAnomaly(conduct({ recipients: 501, strangers: 501 }, key))).toBeDefined();
});

test('a newsletter with a history grows: 4 times what is new usually, or half of the list', () => {
  const usual = { recipients: 2_000, strangers: 30 };
  expect(findAnomaly(conduct({ recipients: 3_000, strangers: 1_000 }, {}, usual))).toBeUndefined();
  expect(findAnomaly(conduct({ recipients: 3_001, strangers: 1_001 }, {}, usual))?.figures).toEqual({
    newRecipients: 1_001,
    limit: 1_000,
    usualNewRecipientsADay: 30,
  });
  const greeter = { recipients: 200, strangers: 200 };
  expect(findAnomaly(conduct({ recipients: 800, strangers: 800 }, {}, greeter))).toBeUndefined();
  expect(findAnomaly(conduct({ recipients: 801, strangers: 801 }, {}, greeter))?.why).toContain('200 a day are usual');
});

test('days without mail say nothing of what is usual, and two days with mail are no habit', () => {
  const weekly = conduct({ recipients: 900, strangers: 900 }, {}, {});
  const sent = counts({ recipients: 2_000, strangers: 300 });
  const days = weekly.days.map((day, n) => (n === 4 || n === 8 || n === 12 ? sent : day));
  expect(findAnomaly({ ...weekly, days })).toBeUndefined();
  expect(findAnomaly({ ...weekly, days: days.with(12, counts()) })).toBeDefined();
});

test('ten of a hundred that do not exist are too many, nine are not, nor ten of a hundred and one', () => {
  expect(findAnomaly(conduct({ recipients: 100, bounced: 9 }))).toBeUndefined();
  expect(findAnomaly(conduct({ recipients: 101, bounced: 10 }))).toBeUndefined();
  expect(findAnomaly(conduct({ recipients: 100, bounced: 10 }))).toEqual({
    why: '10 of 100 recipients of the last three days do not exist',
    figures: { bounced: 10, recipients: 100, limit: 10 },
  });
});

test('bounces that come days later are compared with what was sent then', () => {
  const quiet = conduct({ bounced: 20 });
  const days = quiet.days.with(2, counts({ recipients: 2_000 }));
  expect(findAnomaly({ ...quiet, days })).toBeUndefined();
  expect(findAnomaly({ ...quiet, days: quiet.days.with(3, counts({ recipients: 2_000 })) })).toBeDefined();
});

test('five complaints about 1,600 are enough', () => {
  expect(findAnomaly(conduct({ recipients: 1_600, complaints: 4 }))).toBeUndefined();
  expect(findAnomaly(conduct({ recipients: 2_000, complaints: 5 }))).toBeUndefined();
  expect(findAnomaly(conduct({ recipients: 1_600, complaints: 5 }))?.why).toBe(
    '5 of 1600 recipients of the last three days complained',
  );
});

test('a list half of which is suppressed is somebody elses', () => {
  expect(findAnomaly(conduct({ recipients: 200, suppressed: 99 }))).toBeUndefined();
  expect(findAnomaly(conduct({ recipients: 200, suppressed: 100 }))?.figures).toEqual({
    suppressed: 100,
    recipients: 200,
    limit: 100,
  });
});

test('for a day after it was resumed everything is four times as wide', () => {
  const eased = { eased: true };
  expect(findAnomaly(conduct({ recipients: 400, strangers: 400, bounced: 39 }, eased))).toBeUndefined();
  expect(findAnomaly(conduct({ recipients: 401, strangers: 401 }, eased))?.figures['limit']).toBe(400);
  expect(findAnomaly(conduct({ recipients: 40, bounced: 40 }, eased))).toBeDefined();
});
