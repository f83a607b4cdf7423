/** Types that blobs can be looked up in. RFC 9404 3. */
export const LOOKED_UP = ['Email', 'Thread', 'Mailbox'] as const;

export type LookedUp = (typeof LOOKED_UP)[number];
