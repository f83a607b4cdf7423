/** What a receiver knows a notice by, in `webhook-id`. */
export const deliveryId = (notice: number): string => `whd_${notice}`;

/** The notice of an id; undefined when it is none. */
export function noticeOf(text: string): number | undefined {
  const digits = /^whd_([1-9]\d{0,14})$/.exec(text)?.[1];
  return digits === undefined ? undefined : Number(digits);
}
