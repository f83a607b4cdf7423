/** Every name that the JMAP door counts. */
export const JMAP_METRICS: Readonly<Record<string, string>> = {
  jmap_calls_total: 'JMAP method calls, by method and outcome (done, or the type of the error).',
  jmap_call_seconds: 'From a JMAP method call to its answer.',
  jmap_pushes_total: 'Pushes to devices that are not connected, by outcome (told, later, gone).',
};
