/** The public id of an event, sent in `webhook-id`. */
export const deliveryId = (notice: number): string => `whd_${notice}`;

/** The event number of an id; undefined when malformed. */
export function noticeOf(text: string): number | undefined {
  const digits = /^whd_([1-9]\d{0,14})$/.exec(text)?.[1];
  return digits === undefined ? undefined : Number(digits);
}
