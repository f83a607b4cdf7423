/** What the core capability advertises and the door enforces. RFC 8620 2. Octets, counts. */
export interface JmapLimits {
  maxSizeUpload: number;
  maxConcurrentUpload: number;
  maxSizeRequest: number;
  maxConcurrentRequests: number;
  maxCallsInRequest: number;
  maxObjectsInGet: number;
  maxObjectsInSet: number;
}

export const JMAP_LIMITS: JmapLimits = {
  maxSizeUpload: 50_000_000,
  maxConcurrentUpload: 4,
  maxSizeRequest: 10_000_000,
  maxConcurrentRequests: 4,
  maxCallsInRequest: 64,
  maxObjectsInGet: 500,
  maxObjectsInSet: 500,
};

/** The most entries that one /query answers with. */
export const MOST_IN_QUERY = 5_000;
/** The most changes that one /changes answers with. */
export const MOST_IN_CHANGES = 1_000;

/**
 * The most octets that the attachments of one email may have together (RFC 8621 1.3.1): what a message of
 * `maxMessageBytes` holds once they are in base64, with room for the text.
 */
export function maxSizeAttachmentsPerEmail(maxMessageBytes: number): number {
  return Math.max(0, Math.floor((maxMessageBytes * 54) / 78) - 65_536);
}
