/** Metrics of the inbound filter with their help texts; label values are from small fixed sets. */
export const FILTER_METRICS = {
  filtered_messages_total: 'Messages from outside that were filtered, by outcome (taken, refused, later).',
  filter_loops_total: 'Messages whose checks ran into a loop and were stopped.',
  filter_seconds: 'Time to filter a message, waiting included.',
} as const;
