/** `{detail}`, as SkyFi and Umbra report errors. */
export class Refused extends Error {
  readonly status: number
  readonly detail: unknown
  constructor(status: number, detail: unknown) {
    super(String(detail))
    this.status = status
    this.detail = detail
  }
}

export const invalid = (field: string, msg: string) => new Refused(422, [{ loc: ['body', field], msg, type: 'value_error' }])
