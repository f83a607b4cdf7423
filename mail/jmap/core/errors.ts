/** Method-level error types. RFC 8620 3.6.2, and those that single methods add. */
export type MethodErrorType =
  | 'serverUnavailable'
  | 'serverFail'
  | 'serverPartialFail'
  | 'unknownMethod'
  | 'invalidArguments'
  | 'invalidResultReference'
  | 'forbidden'
  | 'accountNotFound'
  | 'accountNotSupportedByMethod'
  | 'accountReadOnly'
  | 'requestTooLarge'
  | 'stateMismatch'
  | 'cannotCalculateChanges'
  | 'tooManyChanges'
  | 'anchorNotFound'
  | 'unsupportedSort'
  | 'unsupportedFilter'
  | 'fromAccountNotFound'
  | 'fromAccountNotSupportedByMethod'
  | 'unknownDataType';

/** A method-level error; its text reaches the client unchanged. Thrown, so that argument readers can raise it. */
export class MethodError extends Error {
  override readonly name = 'MethodError';
  readonly type: MethodErrorType;
  /** Additional properties that the error type defines. */
  readonly more: Readonly<Record<string, unknown>>;

  /** `description` states the client's developer what is wrong and what to do. */
  constructor(type: MethodErrorType, description: string, more: Readonly<Record<string, unknown>> = {}) {
    super(description);
    this.type = type;
    this.more = more;
  }

  /** The arguments of the "error" response. */
  toResponse(): Record<string, unknown> {
    return { type: this.type, description: this.message, ...this.more };
  }
}

/** The error for one object of a /set. Types: RFC 8620 5.3, RFC 8621 and others. */
export interface SetError {
  type: string;
  description?: string;
  /** Property names, with type `invalidProperties`. */
  properties?: readonly string[];
  [more: string]: unknown;
}

/** Request-level error types. RFC 8620 3.6.1. */
export type RequestErrorType = 'unknownCapability' | 'notJSON' | 'notRequest' | 'limit';

export class RequestError extends Error {
  override readonly name = 'RequestError';
  readonly type: RequestErrorType;
  /** Name of the exceeded core limit, with type `limit`. */
  readonly limit: string | undefined;

  constructor(type: RequestErrorType, detail: string, limit?: string) {
    super(detail);
    this.type = type;
    this.limit = limit;
  }

  /** The problem+json body. RFC 7807. */
  toProblem(): Record<string, unknown> {
    const more = this.limit === undefined ? {} : { limit: this.limit };
    return { type: `urn:ietf:params:jmap:error:${this.type}`, status: 400, detail: this.message, ...more };
  }
}
