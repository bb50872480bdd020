/**
 * The part of OpenTelemetry's semantic conventions for HTTP clients, version 1.38.0, that a client
 * may use: copied from "Semantic conventions for HTTP spans" and "… for HTTP metrics".
 */
export const conventions = {
  span: {
    required: {
      'http.request.method': 'string',
      'server.address': 'string',
      'server.port': 'number',
      'url.full': 'string',
    },
    others: {
      'error.type': 'string',
      'http.response.status_code': 'number',
      'http.request.resend_count': 'number',
      'url.template': 'string',
    },
  },
  /** `http.client.request.duration`, a histogram in seconds. */
  duration: {
    unit: 's',
    boundaries: [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10],
    required: {
      'http.request.method': 'string',
      'server.address': 'string',
      'server.port': 'number',
    },
    others: {
      'error.type': 'string',
      'http.response.status_code': 'number',
      'url.template': 'string',
    },
  },
} as const;
