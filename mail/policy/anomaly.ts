/** What a sender did in some time. */
export interface Counts {
  /** Recipients elsewhere, one a message and address. */
  recipients: number;
  /** Of them those whom it never wrote to before. */
  strangers: number;
  /** Recipients whose server says that they do not exist. */
  bounced: number;
  /** Recipients who call it unwanted. */
  complaints: number;
  /** Recipients it asked for although they are on the suppression list. */
  suppressed: number;
}

/** All that is judged of a mailbox or a key that sends. */
export interface Conduct {
  kind: 'mailbox' | 'key';
  /** The last hour, rounded up to the ten minutes in which it began. */
  hour: Counts;
  /** Days (UTC) one after the other, today first, at most {@link USUAL_DAYS} before it. */
  days: readonly Counts[];
  /** A person said that all is well, less than a day ago: its limits are wider. */
  eased: boolean;
}

export interface Anomaly {
  /** A sentence for people, without its full stop. */
  why: string;
  /** What was counted, and the limit that it passed. */
  figures: Readonly<Record<string, number>>;
}

/** Days that say what is usual. */
export const USUAL_DAYS = 14;

/** Strangers who surprise nobody, however little a sender usually does. A program greets new customers all day. */
const FLOORS = { mailbox: { hour: 100, day: 300 }, key: { hour: 500, day: 2_000 } } as const;
/** So many times what is usual is unusual. */
const FACTOR = 4;
/** Who did something on fewer days has no habits yet. */
const FEWEST_DAYS = 3;
/** Bounces come back late: they are compared with what was sent in as many days. */
const RECENT_DAYS = 3;
/** From so many on, and from this share of all recipients on. */
const BOUNCES = { least: 10, share: 0.1 };
const COMPLAINTS = { least: 5, share: 0.003 };
const SUPPRESSED = { least: 100, share: 0.5 };
/** For a day after a person let it go on. */
const EASED = 4;

/** What a thief or a bought list does, and this sender does not do usually; undefined for what is nothing new. */
export function anomaly(conduct: Conduct): Anomaly | undefined {
  return strangersOf(conduct) ?? bouncesOf(conduct) ?? complaintsOf(conduct) ?? suppressedOf(conduct);
}

function strangersOf({ kind, hour, days, eased }: Conduct): Anomaly | undefined {
  const [today, ...before] = days;
  const usual = {
    strangers: usually(before, 'strangers'),
    recipients: usually(before, 'recipients'),
  };
  // A list that is written to every day grows by some; half of it at once is another list.
  const own = Math.max(FACTOR * usual.strangers, usual.recipients / 2);
  for (const [span, met, words] of [
    ['hour', hour.strangers, 'within an hour'],
    ['day', today?.strangers ?? 0, 'on one day'],
  ] as const) {
    const limit = Math.ceil(Math.max(FLOORS[kind][span], own) * (eased ? EASED : 1));
    if (met <= limit) continue;
    const compared = usual.strangers === 0 ? 'which it does not do usually' : `${usual.strangers} a day are usual`;
    return {
      why: `it wrote to ${met} recipients ${words} whom it never wrote to before; ${compared}`,
      figures: { newRecipients: met, limit, usualNewRecipientsADay: usual.strangers },
    };
  }
  return undefined;
}

function bouncesOf(conduct: Conduct): Anomaly | undefined {
  const over = shareOf(conduct, 'bounced', BOUNCES);
  if (over === undefined) return undefined;
  const { count, recipients } = over;
  const figures = { bounced: count, recipients, limit: over.limit };
  return { why: `${count} of ${recipients} recipients of the last three days do not exist`, figures };
}

function complaintsOf(conduct: Conduct): Anomaly | undefined {
  const over = shareOf(conduct, 'complaints', COMPLAINTS);
  if (over === undefined) return undefined;
  const { count, recipients } = over;
  const figures = { complaints: count, recipients, limit: over.limit };
  return { why: `${count} of ${recipients} recipients of the last three days call it unwanted`, figures };
}

function suppressedOf(conduct: Conduct): Anomaly | undefined {
  const over = shareOf(conduct, 'suppressed', SUPPRESSED);
  if (over === undefined) return undefined;
  const { count, recipients } = over;
  return {
    why: `in the last three days it asked for ${count} recipients who are on the suppression list, beside ${recipients} others`,
    figures: { suppressed: count, recipients, limit: over.limit },
  };
}

/** How often something happened in the days in which it can come back, when that is too often. */
function shareOf(
  { days, eased }: Conduct,
  what: 'bounced' | 'complaints' | 'suppressed',
  { least, share }: { least: number; share: number },
): { count: number; recipients: number; limit: number } | undefined {
  const recent = days.slice(0, RECENT_DAYS);
  const [count, recipients] = [sum(recent, what), sum(recent, 'recipients')];
  const limit = Math.ceil(Math.max(least, share * recipients) * (eased ? EASED : 1));
  return count < limit ? undefined : { count, recipients, limit };
}

/** The median of those days on which it sent; 0 where it has sent on too few to have habits. */
function usually(days: readonly Counts[], what: keyof Counts): number {
  const sent = days.filter((day) => day.recipients > 0).map((day) => day[what]);
  if (sent.length < FEWEST_DAYS) return 0;
  return sent.toSorted((a, b) => a - b)[sent.length >> 1] ?? 0;
}

function sum(days: readonly Counts[], what: keyof Counts): number {
  return days.reduce((all, day) => all + day[what], 0);
}
