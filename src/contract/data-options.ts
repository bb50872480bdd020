/** What happens to custom fields that the service would ignore in silence. */
export interface DataOptions {
  /**
   * A reserved key in `data`, which the service drops: `'warn'` sends it with a `warning`, `'throw'`
   * refuses the call, `'send'` says nothing.
   * @default 'warn'
   */
  reserved?: 'warn' | 'throw' | 'send' | undefined;
  /**
   * An empty string in `data`, which the service ignores: `'warn'` sends it with a `warning`,
   * `'throw'` refuses the call, `'delete'` sends `null` instead, which deletes the field, `'send'`
   * says nothing.
   * @default 'warn'
   */
  emptyString?: 'warn' | 'throw' | 'delete' | 'send' | undefined;
}
