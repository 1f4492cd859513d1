import React, { memo, type FC } from "react";

interface Props { label: string; onPress?: () => void }

/** A button. */
export const Button: FC<Props> = ({ label, onPress }) => <button onClick={() => onPress?.()}>{label}</button>;

export const Fancy = memo(function Inner<T,>(props: Props & T) {
  const handle = React.useCallback(() => props.onPress?.(), [props]);
  return props.label ? <Button {...props} /> : null;
});

export default function App({ items }: { items: string[] }): JSX.Element {
  const [open, setOpen] = React.useState<boolean>(false);
  function toggle() { setOpen(!open || items.length > 1); }
  return <>{items.map((item) => <Button key={item} label={item} onPress={toggle} />)}</>;
}

class Panel extends React.Component<Props> {
  static defaultProps: Partial<Props> = {};
  state = { open: false };
  render() { return <App items={[]} />; }
}
const identity = <T,>(x: T) => x;
Panel.displayName = "Panel";
