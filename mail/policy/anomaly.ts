/** Counters of one sender over a period. */
export interface SendingCounts {
  /** Remote recipients, counted once per message and address. */
  recipients: number;
  /** Remote recipients that the sender never wrote to before. */
  strangers: number;
  /** Recipients that do not exist, according to their servers. */
  bounced: number;
  /** Recipients who complained. */
  complaints: number;
  /** Requested recipients that are on the suppression list. */
  suppressed: number;
}

/** Recent sending behavior of a mailbox or an API key. */
export interface SendingBehavior {
  kind: 'mailbox' | 'key';
  /** Counters of the last hour, in steps of ten minutes. */
  hour: SendingCounts;
  /** Counters per day (UTC), today first, and up to {@link USUAL_DAYS} days before it. */
  days: readonly SendingCounts[];
  /** A person resumed the sender less than a day ago: the limits are higher. */
  eased: boolean;
}

export interface SendingAnomaly {
  /** Reason for people: a sentence without its full stop. */
  why: string;
  /** Counters, and the limit that was exceeded. */
  figures: Readonly<Record<string, number>>;
}

/** Days from which the usual volume is computed. */
export const USUAL_DAYS = 14;

/** New recipients that are always normal, even for a sender with little mail. Programs write to new customers all day. */
const MIN_NEW_RECIPIENT_LIMITS = { mailbox: { hour: 100, day: 300 }, key: { hour: 500, day: 2_000 } } as const;
/** Multiple of the usual volume that is unusual. */
const UNUSUAL_FACTOR = 4;
/** Days with mail below which a sender has no usual volume. */
const MIN_ACTIVE_DAYS = 3;
/** Bounces arrive late: they are compared with the mail of this many days. */
const RECENT_DAYS = 3;
/** An anomaly needs both: this number, and this share of all recipients. */
const BOUNCE_LIMIT = { least: 10, share: 0.1 };
const COMPLAINT_LIMIT = { least: 5, share: 0.003 };
const SUPPRESSED_LIMIT = { least: 100, share: 0.5 };
/** Limits are multiplied for a day after a person resumed the sender. */
const EASED_FACTOR = 4;

/** Finds behavior of a stolen account or a bought list that is unusual for this sender; undefined for none. */
export function findAnomaly(conduct: SendingBehavior): SendingAnomaly | undefined {
  return (
    newRecipientAnomaly(conduct) ?? bounceAnomaly(conduct) ?? complaintAnomaly(conduct) ?? suppressedAnomaly(conduct)
  );
}

function newRecipientAnomaly({ kind, hour, days, eased }: SendingBehavior): SendingAnomaly | undefined {
  const [today, ...before] = days;
  const usual = {
    strangers: usualCount(before, 'strangers'),
    recipients: usualCount(before, 'recipients'),
  };
  // A daily list grows slowly; new recipients above half of its size are another list.
  const usualLimit = Math.max(UNUSUAL_FACTOR * usual.strangers, usual.recipients / 2);
  for (const [span, count, words] of [
    ['hour', hour.strangers, 'within an hour'],
    ['day', today?.strangers ?? 0, 'on one day'],
  ] as const) {
    const limit = Math.ceil(Math.max(MIN_NEW_RECIPIENT_LIMITS[kind][span], usualLimit) * (eased ? EASED_FACTOR : 1));
    if (count <= limit) continue;
    const compared = usual.strangers === 0 ? 'which is unusual for it' : `${usual.strangers} a day are usual`;
    return {
      why: `it wrote to ${count} new recipients ${words}; ${compared}`,
      figures: { newRecipients: count, limit, usualNewRecipientsADay: usual.strangers },
    };
  }
  return undefined;
}

function bounceAnomaly(conduct: SendingBehavior): SendingAnomaly | undefined {
  const over = exceededShare(conduct, 'bounced', BOUNCE_LIMIT);
  if (over === undefined) return undefined;
  const { count, recipients } = over;
  const figures = { bounced: count, recipients, limit: over.limit };
  return { why: `${count} of ${recipients} recipients of the last three days do not exist`, figures };
}

function complaintAnomaly(conduct: SendingBehavior): SendingAnomaly | undefined {
  const over = exceededShare(conduct, 'complaints', COMPLAINT_LIMIT);
  if (over === undefined) return undefined;
  const { count, recipients } = over;
  const figures = { complaints: count, recipients, limit: over.limit };
  return { why: `${count} of ${recipients} recipients of the last three days complained`, figures };
}

function suppressedAnomaly(conduct: SendingBehavior): SendingAnomaly | undefined {
  const over = exceededShare(conduct, 'suppressed', SUPPRESSED_LIMIT);
  if (over === undefined) return undefined;
  const { count, recipients } = over;
  return {
    why: `in the last three days it requested ${count} recipients that are on the suppression list, and ${recipients} others`,
    figures: { suppressed: count, recipients, limit: over.limit },
  };
}

/** Returns the count of the last days if it exceeds the limit. */
function exceededShare(
  { days, eased }: SendingBehavior,
  counter: 'bounced' | 'complaints' | 'suppressed',
  { least, share }: { least: number; share: number },
): { count: number; recipients: number; limit: number } | undefined {
  const recent = days.slice(0, RECENT_DAYS);
  const [count, recipients] = [sum(recent, counter), sum(recent, 'recipients')];
  const limit = Math.ceil(Math.max(least, share * recipients) * (eased ? EASED_FACTOR : 1));
  return count < limit ? undefined : { count, recipients, limit };
}

/** Median of the days with mail; 0 if there are fewer than {@link MIN_ACTIVE_DAYS}. */
function usualCount(days: readonly SendingCounts[], counter: keyof SendingCounts): number {
  const sent = days.filter((day) => day.recipients > 0).map((day) => day[counter]);
  if (sent.length < MIN_ACTIVE_DAYS) return 0;
  return sent.toSorted((a, b) => a - b)[sent.length >> 1] ?? 0;
}

function sum(days: readonly SendingCounts[], counter: keyof SendingCounts): number {
  return days.reduce((all, day) => all + day[counter], 0);
}
