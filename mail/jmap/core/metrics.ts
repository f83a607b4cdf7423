/** Metrics of the JMAP endpoint. */
export const JMAP_METRICS: Readonly<Record<string, string>> = {
  jmap_calls_total: 'JMAP method calls, by method and outcome (done, or the type of the error).',
  jmap_call_seconds: 'Duration of JMAP method calls.',
  jmap_pushes_total: 'Web pushes, by outcome (delivered, later, gone).',
};
