/** Capability URIs. RFC 8620 2, 8621 1.3, 8887 4, 9404 3, 9425 3, 9007 3, 9749 3. */
export const CORE = 'urn:ietf:params:jmap:core';
export const MAIL = 'urn:ietf:params:jmap:mail';
export const SUBMISSION = 'urn:ietf:params:jmap:submission';
export const VACATION = 'urn:ietf:params:jmap:vacationresponse';
export const WEBSOCKET = 'urn:ietf:params:jmap:websocket';
export const BLOB = 'urn:ietf:params:jmap:blob';
export const QUOTA = 'urn:ietf:params:jmap:quota';
export const MDN = 'urn:ietf:params:jmap:mdn';
export const WEBPUSH_VAPID = 'urn:ietf:params:jmap:webpush-vapid';
/** Mailstead's own properties of an Email: trust and verdict. */
export const MAILSTEAD = 'urn:mailstead:params:jmap:mail';

/** Limits of the core capability, in octets and counts; the JMAP endpoint enforces them. RFC 8620 2. */
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

/** Maximum ids in one /query response. */
export const MAX_IN_QUERY = 5_000;
/** Maximum changes in one /changes response. */
export const MAX_IN_CHANGES = 1_000;

/**
 * Maximum total octets of an email's attachments (RFC 8621 1.3.1): base64 must fit into `maxMessageBytes`, with 64 KiB
 * left for text and headers.
 */
export function maxSizeAttachmentsPerEmail(maxMessageBytes: number): number {
  return Math.max(0, Math.floor((maxMessageBytes * 54) / 78) - 65_536);
}
