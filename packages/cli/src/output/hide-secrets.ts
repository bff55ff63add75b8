/** Returns an address without its password, wherever it is in it. */
export function hideSecrets(address: string): string {
  return address
    .replace(/^([a-z][a-z\d+.-]*:\/\/[^:@/?#]*):.*@/i, '$1:***@')
    .replaceAll(/([?&]password=)[^&#]*/gi, '$1***')
}
