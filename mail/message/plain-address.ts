/** Nothing but an address: a quoted local part could hold whole sentences. */
export function isPlainAddress(address: string): boolean {
  return /^[\p{L}\p{N}.!#$%&'*+/=?^_{|}~-]{1,64}@[\p{L}\p{N}.-]{1,253}$/u.test(address);
}

/** An address as programs are told of it among facts: where its local part is quoted nothing of that is told. */
export function plainAddress(address: string): string {
  if (address === '' || isPlainAddress(address)) return address;
  const domain = /@([\p{L}\p{N}.-]{1,253})$/u.exec(address)?.[1];
  return domain === undefined ? '"..."' : `"..."@${domain}`;
}
