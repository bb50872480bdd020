/** The most items that the messaging service gives out in one page (Limits, "List page size"). */
export const largestPage = 100;
