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
