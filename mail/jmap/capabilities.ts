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
/** What Mailstead adds: the trust object of a message and its delivery trace. */
export const MAILSTEAD = 'urn:mailstead:params:jmap:mail';
