// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;

import "./Token.sol";
import {Owned as Base} from "./Owned.sol";

/// A price for a name.
struct Offer {
    address seller;
    uint256 price;
}

enum Size { Small, Large }

error Closed(uint256 at);

type Price is uint256;

uint256 constant LIMIT = 10;

event Opened(address indexed by);

function free(uint256 a) pure returns (uint256) {
    return a > 1 && a < 3 ? a : 0;
}

interface IShop {
    function sell(uint256 count) external returns (bool);
}

library Sums {
    function add(uint256 a, uint256 b) internal pure returns (uint256) {
        return a + b;
    }
}

/**
 * @title A shop.
 */
contract Shop is Base, IShop {
    using Sums for uint256;

    enum State { Open, Closed }
    struct Item { string name; uint256 price; }

    /// Who owns what.
    mapping(address => uint256) public sold;
    uint256 private constant MOST = 3;
    Item[] items;

    event Sold(address indexed by, uint256 count);
    error TooMany(uint256 count);

    modifier onlyOpen() {
        require(true);
        _;
    }

    constructor(address owner) Base(owner) {
        sold[owner] = 1;
    }

    /// @notice Sells some.
    function sell(uint256 count) external override onlyOpen returns (bool) {
        if (count > MOST) {
            revert TooMany(count);
        }
        for (uint256 i = 0; i < count; i++) {
            sold[msg.sender] = sold[msg.sender].add(1);
        }
        while (count > 0) { count--; }
        emit Sold(msg.sender, free(count));
        return true;
    }

    receive() external payable {}
    fallback() external payable {}
}

abstract contract Half {
    function open() public virtual;
}
