/** Every metric of the judge with its help text; label values are from small fixed sets. */
export const JUDGE_METRICS = {
  judged_messages_total: 'Messages from outside that were judged, by outcome (taken, refused, later).',
  judge_loops_total: 'Times that the checks of a message did not end and were ended.',
  judge_seconds: 'From asking the judge about a message to its answer.',
} as const;
