import type { z } from 'zod';

/** One invalid argument. */
export interface ArgumentIssue {
  path: string;
  message: string;
}

const MAX_ISSUES = 10;

type Issue = z.core.$ZodIssue;

/** Describes why arguments do not fit a schema, at most ten reasons. */
export function argumentIssues({ issues }: z.ZodError): ArgumentIssue[] {
  return issues
    .slice(0, MAX_ISSUES)
    .flatMap(reasons)
    .slice(0, MAX_ISSUES)
    .map(({ path, message }) => ({ path: path.join('.'), message }));
}

/** Replaces "Invalid input" of a union by the reasons of the alternative that has the type of the value. */
function reasons(issue: Issue): Pick<Issue, 'path' | 'message'>[] {
  if (issue.code === 'invalid_type' && issue.message.endsWith('received undefined')) {
    return [{ path: issue.path, message: 'is missing' }];
  }
  if (issue.code !== 'invalid_union' || issue.errors.length === 0) return [issue];
  const isMissing = issue.errors.every((one) => one.some(({ message }) => message.endsWith('received undefined')));
  if (isMissing) return [{ path: issue.path, message: 'is missing' }];
  const fitting = issue.errors.find((one) => !one.some((each) => isOfType(each)));
  if (fitting === undefined) return [issue];
  return fitting.flatMap(reasons).map(({ path, message }) => ({ path: [...issue.path, ...path], message }));
}

/** Tests if an issue rejects the type of the whole value, not its content. */
function isOfType({ code, path }: Issue): boolean {
  return path.length === 0 && (code === 'invalid_type' || code === 'invalid_value');
}

/** The sentence of a refusal for the first issue. */
export function firstIssue([first]: readonly ArgumentIssue[]): string {
  if (first === undefined) return 'the arguments do not fit';
  return first.path === '' ? first.message : `${first.path}: ${first.message}`;
}
